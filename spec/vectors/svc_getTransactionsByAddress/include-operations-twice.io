// More parts than there are cannot be attached.
// POST /evm-chain
// extension: include
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":["0x425249Cf0F2f91f488E24cF7B1AA3186748f7516",{"include":["operations","operations","transfers","internal"]}]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/1/include must have at most 3 elements.","path":"/params/1/include"}}}
