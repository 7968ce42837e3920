// Digits in text stay text, beyond every number too.
// POST /evm-chain
// extension: string ids
>> {"jsonrpc":"2.0","id":"9007199254740993","method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":"9007199254740993","error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}
