// Without addresses the call is refused.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_watchAddresses","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}}
