// The method takes no parameters.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"rpc.discover","chainId":103,"params":[1]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at most 0 elements.","path":"/params"}}}
