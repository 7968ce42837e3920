// What is no cursor is refused, naming its place.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_watchAddresses","chainId":31337,"params":[["0x425249Cf0F2f91f488E24cF7B1AA3186748f7516"],{"after":"not a cursor"}]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/1/after must be a cursor: the id of an event, or an x-chain-data-cursor.","path":"/params/1/after"}}}
