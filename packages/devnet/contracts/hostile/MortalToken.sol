// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {HonestToken} from "./HonestToken.sol";

/// Can be destroyed. Since EIP-6780 its code only goes when that happens in the transaction that created it.
contract MortalToken is HonestToken {
    constructor(string memory name_) HonestToken(name_, "MORT", 3) {}

    function end() external {
        selfdestruct(payable(msg.sender));
    }
}
