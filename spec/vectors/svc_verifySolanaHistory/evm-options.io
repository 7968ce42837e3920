// The options of the EVM form are one parameter too many.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"svc_verifyHistory","chainId":103,"params":["6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe",{"verify":"roots"}]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at most 1 element.","path":"/params"}}}
