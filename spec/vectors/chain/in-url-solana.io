// A chainId of the URL comes back on /solana as one of the body does.
// POST /solana?chainId=103
// extension: chainId in the URL
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTokensAndNFTs","params":[]}
<< {"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}
