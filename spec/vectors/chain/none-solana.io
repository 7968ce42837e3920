// Without a chainId an answer on /solana has none either.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTokensAndNFTs","params":["6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe"]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/chainId is missing.","path":"/chainId"}}}
