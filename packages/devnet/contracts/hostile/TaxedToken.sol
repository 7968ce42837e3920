// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {HonestToken} from "./HonestToken.sol";

/// Keeps a tenth of every transfer, and logs the whole amount as if it had arrived.
contract TaxedToken is HonestToken {
    constructor(string memory name_, string memory symbol_) HonestToken(name_, symbol_, 18) {}

    function move(address from, address to, uint256 amount) internal override {
        uint256 fee = amount / 10;
        balances[from] -= amount;
        balances[to] += amount - fee;
        balances[address(this)] += fee;
        logFungible(from, to, amount);
    }
}
