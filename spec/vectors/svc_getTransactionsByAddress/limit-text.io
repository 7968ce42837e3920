// A limit is a number, not text.
// POST /evm-chain
// extension: pages
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":["0x425249Cf0F2f91f488E24cF7B1AA3186748f7516",{"limit":"10"}]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/1/limit must be an integer.","path":"/params/1/limit"}}}
