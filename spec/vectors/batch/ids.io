// Ids of a batch are not rounded into each other.
// POST /evm-chain
// extension: batches
>> [{"jsonrpc":"2.0","id":9007199254740991,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]},{"jsonrpc":"2.0","id":9007199254740993,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}]
<< [{"jsonrpc":"2.0","id":9007199254740991,"error":{"code":-32602,"message":"Invalid params","data":{"reason":"INVALID_PARAMS","extraMessage":"/params must have at least 1 element.","path":"/params"}}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"/id must be an integer within ±(2^53-1), or a string of 1 to 256 characters.","path":"/id"}}}]
