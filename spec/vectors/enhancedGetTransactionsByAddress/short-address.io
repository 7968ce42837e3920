// A key of 31 characters is too short.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTransactionsByAddress","chainId":103,"params":["6XU36wCxWobLx5Rtsb58kmgAJKVYmMV"]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0 must be a base58 public key of 32 to 44 characters.","path":"/params/0"}}}
