// A chainId that is a string is no chain id.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_getSyncStatus","chainId":"31337","params":[]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/chainId must be an integer.","path":"/chainId"}}}
