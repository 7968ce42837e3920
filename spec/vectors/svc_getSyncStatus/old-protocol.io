// Only JSON-RPC 2.0 is spoken.
// POST /evm-chain
>> {"jsonrpc":"1.0","id":1,"method":"svc_getSyncStatus","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request","data":{"reason":"INVALID_REQUEST","extraMessage":"/jsonrpc must be \"2.0\".","path":"/jsonrpc"}}}
