// Without a chainId in the body that of the URL is used.
// POST /evm-chain?chainId=31337
// extension: chainId in the URL
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","params":[]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}
