// A method of the other endpoint is unknown.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"method":"enhancedGetTransactionsByAddress","chainId":31337,"params":["6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe"]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found","data":{"reason":"METHOD_NOT_FOUND","extraMessage":"/evm-chain has no method \"enhancedGetTransactionsByAddress\"."}}}
