// The account is a text, not an object.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTransactionsByAddress","chainId":103,"params":[{"accountAddress":"6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe"}]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0 must be a string.","path":"/params/0"}}}
