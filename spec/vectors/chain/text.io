// A chainId in text is no chain id.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":"31337","params":["0x425249Cf0F2f91f488E24cF7B1AA3186748f7516"]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/chainId must be an integer from 0 to 2^53-1.","path":"/chainId"}}}
