// The method takes no parameters.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_getSyncStatus","chainId":31337,"params":[1]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at most 0 elements.","path":"/params"}}}
