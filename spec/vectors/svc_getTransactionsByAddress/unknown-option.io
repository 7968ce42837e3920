// An option the server does not know is refused, not ignored.
// POST /evm-chain
// extension: pages
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":["0x425249Cf0F2f91f488E24cF7B1AA3186748f7516",{"page":2}]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/1/page is not a known member.","path":"/params/1/page"}}}
