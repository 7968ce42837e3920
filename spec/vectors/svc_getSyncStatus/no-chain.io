// Without a chainId in body or URL the call is refused.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_getSyncStatus","params":[]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/chainId is missing.","path":"/chainId"}}}
