// There is no third endpoint.
// POST /evm
// < 404
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Unknown path","data":{"reason":"NOT_FOUND","extraMessage":"The endpoints are /evm-chain and /solana."}}}
