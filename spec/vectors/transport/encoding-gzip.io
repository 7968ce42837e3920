// Compressed bodies are not read.
// POST /evm-chain
// > content-encoding: gzip
// < 415
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Unsupported media type","data":{"reason":"UNSUPPORTED_MEDIA_TYPE","extraMessage":"Send the body as application/json."}}}
