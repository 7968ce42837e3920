// A UUID comes back verbatim.
// POST /evm-chain
// extension: string ids
>> {"jsonrpc":"2.0","id":"123e4567-e89b-12d3-a456-426614174000","method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":"123e4567-e89b-12d3-a456-426614174000","error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}
