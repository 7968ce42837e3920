// A byte more is refused.
// POST /evm-chain
// padded: 1048577
// < 413
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Request body too large","data":{"reason":"BODY_TOO_LARGE","extraMessage":"The body may have 1048576 bytes."}}}
