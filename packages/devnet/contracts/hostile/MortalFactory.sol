// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {MortalToken} from "./MortalToken.sol";

/// Creates tokens at addresses that can be known ahead (CREATE2), also twice at the same one.
contract MortalFactory {
    event Created(address token);

    function create(string memory name, address holder, uint256 amount) public returns (MortalToken token) {
        token = new MortalToken{salt: bytes32(0)}(name);
        if (amount > 0) token.mint(holder, amount);
        emit Created(address(token));
    }

    /// Gone when the transaction ends, on every chain; its logs stay.
    function createAndEnd(string memory name, address holder, uint256 amount) external {
        create(name, holder, amount).end();
    }
}
