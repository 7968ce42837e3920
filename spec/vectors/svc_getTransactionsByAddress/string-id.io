// A string id comes back verbatim.
// POST /evm-chain
// extension: string ids
>> {"jsonrpc":"2.0","id":"0f8c-é","method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":"0f8c-é","error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}
