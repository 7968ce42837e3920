// An address of 19 bytes is refused, naming its place.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_watchAddresses","chainId":31337,"params":[["0x425249Cf0F2f91f488E24cF7B1AA3186748f7516","0x425249Cf0F2f91f488E24cF7B1AA3186748f75"]]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0/1 must be a 20-byte address: 0x and 40 hexadecimal digits.","path":"/params/0/1"}}}
