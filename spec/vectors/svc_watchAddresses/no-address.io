// A stream watches at least one address.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"svc_watchAddresses","chainId":31337,"params":[[]]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params/0 must have at least 1 element.","path":"/params/0"}}}
