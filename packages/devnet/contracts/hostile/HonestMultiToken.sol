// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TokenLogs} from "./TokenLogs.sol";

/// A multi-token contract as it should be; anyone may mint.
contract HonestMultiToken is TokenLogs {
    string public name;
    string public symbol;
    string private template;
    mapping(uint256 id => mapping(address holder => uint256)) private balances;

    constructor(string memory name_, string memory symbol_, string memory template_) {
        name = name_;
        symbol = symbol_;
        template = template_;
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0xd9b67a26 || id == 0x0e89341c;
    }

    function balanceOf(address holder, uint256 id) external view returns (uint256) {
        return balances[id][holder];
    }

    function uri(uint256) external view returns (string memory) {
        return template;
    }

    function mint(address to, uint256 id, uint256 amount) external {
        balances[id][to] += amount;
        logUnits(address(0), to, id, amount);
    }

    function safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes calldata) external {
        require(msg.sender == from, "not yours");
        balances[id][from] -= amount;
        balances[id][to] += amount;
        logUnits(from, to, id, amount);
    }
}
