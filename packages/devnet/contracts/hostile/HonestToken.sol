// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TokenLogs} from "./TokenLogs.sol";

/// A fungible token as it should be; anyone may mint. The others are measured against it.
contract HonestToken is TokenLogs {
    string public name;
    string public symbol;
    uint8 public decimals;
    mapping(address holder => uint256) internal balances;
    mapping(address holder => mapping(address spender => uint256)) public allowance;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
    }

    function balanceOf(address holder) public view virtual returns (uint256) {
        return balances[holder];
    }

    function mint(address to, uint256 amount) external {
        balances[to] += amount;
        logFungible(address(0), to, amount);
    }

    function approve(address spender, uint256 amount) external {
        allowance[msg.sender][spender] = amount;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        move(msg.sender, to, amount);
        return true;
    }

    /// Anyone may move nothing between any two accounts: EIP-20 asks for it, and address poisoning lives on it.
    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        move(from, to, amount);
        return true;
    }

    function move(address from, address to, uint256 amount) internal virtual {
        balances[from] -= amount;
        balances[to] += amount;
        logFungible(from, to, amount);
    }
}
