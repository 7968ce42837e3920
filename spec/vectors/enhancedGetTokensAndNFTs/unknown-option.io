// An option the server does not know is refused, not ignored.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTokensAndNFTs","chainId":103,"params":["6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe",{"parseMetadataURI":true}]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/1/parseMetadataURI is not a known member; the nearest is \"parseMetadataUri\".","path":"/params/1/parseMetadataURI"}}}
