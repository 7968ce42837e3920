// Form A takes the option inside the object or after it, not both.
// POST /solana
// extension: more parameter forms
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTokensAndNFTs","chainId":103,"params":[{"accountAddress":"6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe","parseMetadataUri":true},{"parseMetadataUri":true}]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0/parseMetadataUri is not a known member.","path":"/params/0/parseMetadataUri"}}}
