// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Logs what it is told to, and owns up to nothing: everybody has an endless balance, and nobody any id.
contract Claims {
    event ConsecutiveTransfer(
        uint256 indexed fromTokenId, uint256 toTokenId, address indexed fromAddress, address indexed toAddress
    );

    function claim(address to, uint256 first, uint256 last) public {
        emit ConsecutiveTransfer(first, last, address(0), to);
    }

    /// So many ranges, each of `size` ids and beginning `step` after the one before.
    function claimMany(address to, uint256 first, uint256 count, uint256 step, uint256 size) external {
        for (uint256 i = 0; i < count; i++) claim(to, first + i * step, first + i * step + size - 1);
    }

    function claimAndRevert(address to) external {
        claim(to, 0, 9);
        revert("undone");
    }

    /// One log with any topics and data.
    function logRaw(bytes32[] calldata topics, bytes calldata data) external {
        bytes memory copy = data;
        bytes32[4] memory t;
        for (uint256 i = 0; i < topics.length; i++) t[i] = topics[i];
        assembly {
            let start := add(copy, 32)
            let size := mload(copy)
            switch topics.length
            case 0 { log0(start, size) }
            case 1 { log1(start, size, mload(t)) }
            case 2 { log2(start, size, mload(t), mload(add(t, 32))) }
            case 3 { log3(start, size, mload(t), mload(add(t, 32)), mload(add(t, 64))) }
            default { log4(start, size, mload(t), mload(add(t, 32)), mload(add(t, 64)), mload(add(t, 96))) }
        }
    }

    function balanceOf(address) external pure returns (uint256) {
        return type(uint256).max;
    }

    function ownerOf(uint256) external view returns (address) {
        return address(this);
    }
}
