// Each answer of a batch on /solana carries the chainId of its request.
// POST /solana
// extension: batches
>> [{"jsonrpc":"2.0","id":1,"method":"enhancedGetTokensAndNFTs","chainId":103,"params":[]},{"jsonrpc":"2.0","id":2,"method":"enhancedGetTokensAndNFTs","params":[]}]
<< [{"jsonrpc":"2.0","id":1,"chainId":103,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}},{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/chainId is missing.","path":"/chainId"}}}]
