// A request names its method.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1,"chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"/method is missing.","path":"/method"}}}
