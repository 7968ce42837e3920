// The other cursor is a signature as well.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTransactionsByAddress","chainId":103,"params":["6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe",{"until":"6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe"}]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/1/until must be a base58 signature of 64 to 88 characters.","path":"/params/1/until"}}}
