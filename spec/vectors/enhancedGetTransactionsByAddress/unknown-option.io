// An option the server does not know is refused, not ignored.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTransactionsByAddress","chainId":103,"params":["6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe",{"commitment":"finalized"}]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/1/commitment is not a known member.","path":"/params/1/commitment"}}}
