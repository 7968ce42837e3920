// A cursor is a transaction hash of 32 bytes.
// POST /evm-chain
// extension: pages
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":["0x425249Cf0F2f91f488E24cF7B1AA3186748f7516",{"before":"0x12"}]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/1/before must be a 32-byte hash: 0x and 64 hexadecimal digits.","path":"/params/1/before"}}}
