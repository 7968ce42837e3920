/** An account with transactions, tokens and NFTs: bob of the devnet. */
export const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
