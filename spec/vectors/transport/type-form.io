// A form is refused before it is read.
// POST /evm-chain
// > content-type: application/x-www-form-urlencoded
// < 415
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Unsupported media type","data":{"reason":"UNSUPPORTED_MEDIA_TYPE","extraMessage":"Send the body as application/json."}}}
