// An unusable id is answered with id null.
// POST /evm-chain
>> {"jsonrpc":"2.0","id":1.5,"method":"svc_getSyncStatus","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"/id must be an integer or a string.","path":"/id"}}}
