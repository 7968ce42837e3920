// An empty batch is answered by one error.
// POST /evm-chain
// extension: batches
>> []
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"A batch has 1 to 100 requests."}}}
