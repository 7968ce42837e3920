// The name of a prototype is no method.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"__proto__","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found","data":{"reason":"METHOD_NOT_FOUND","extraMessage":"/evm-chain has no method \"__proto__\"."}}}
