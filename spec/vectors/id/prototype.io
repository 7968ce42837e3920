// The name of a prototype is a text like any other.
// POST /evm-chain
// extension: string ids
>> {"jsonrpc":"2.0","id":"__proto__","method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":"__proto__","error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}
