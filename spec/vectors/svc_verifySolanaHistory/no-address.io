// The address is needed.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"svc_verifyHistory","chainId":103,"params":[]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}
