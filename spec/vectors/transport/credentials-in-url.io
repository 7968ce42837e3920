// Credentials in the URL are none.
// POST /evm-chain?key=x&authorization=Basic%20eDp5
// > authorization:
// < 401
// < www-authenticate: Basic realm="chain-data", charset="UTF-8"
>> {"jsonrpc":"2.0","id":1,"method":"svc_getTransactionsByAddress","chainId":31337,"params":[]}
<< {"jsonrpc":"2.0","id":null,"error":{"code":40102,"message":"Authentication required","data":{"reason":"UNAUTHENTICATED","extraMessage":"Send HTTP Basic credentials: project id and project server key."}}}
