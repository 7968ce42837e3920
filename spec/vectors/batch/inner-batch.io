// A batch in a batch is no request.
// POST /evm-chain
// extension: batches
>> [[{"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}]]
<< [{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"The request must be an object.","path":""}}}]
