// Token accounts are all, or none.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTransactionsByAddress","chainId":103,"params":["6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe",{"tokenAccounts":"some"}]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/1/tokenAccounts must be one of [\"all\",\"none\"].","path":"/params/1/tokenAccounts"}}}
