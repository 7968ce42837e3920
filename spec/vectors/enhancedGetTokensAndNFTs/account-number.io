// An account is text or an object.
// POST /solana
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTokensAndNFTs","chainId":103,"params":[7]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0 must be a string.","path":"/params/0"}}}
