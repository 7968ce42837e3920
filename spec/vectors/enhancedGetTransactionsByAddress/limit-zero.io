// A page has at least one transaction.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTransactionsByAddress","chainId":103,"params":["6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe",{"limit":0}]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/1/limit must be at least 1.","path":"/params/1/limit"}}}
