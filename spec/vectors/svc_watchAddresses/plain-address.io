// One address is a list, too.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_watchAddresses","chainId":31337,"params":["0x425249Cf0F2f91f488E24cF7B1AA3186748f7516"]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0 must be an array.","path":"/params/0"}}}
