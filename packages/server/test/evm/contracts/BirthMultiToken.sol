// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// An ERC-1155 that mints while it is created.
contract BirthMultiToken {
    event TransferSingle(
        address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value
    );
    event TransferBatch(
        address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values
    );

    mapping(address => mapping(uint256 => uint256)) public balanceOf;

    constructor(address to, uint256 id, uint256 value) {
        balanceOf[to][id] = value;
        emit TransferSingle(msg.sender, address(0), to, id, value);
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata values) external {
        for (uint256 i = 0; i < ids.length; i++) balanceOf[to][ids[i]] += values[i];
        emit TransferBatch(msg.sender, address(0), to, ids, values);
    }

    /// Gives one of every id and logs lists that cannot belong together.
    function mintUnequal(address to, uint256[] calldata ids, uint256[] calldata values) external {
        for (uint256 i = 0; i < ids.length; i++) balanceOf[to][ids[i]] += 1;
        emit TransferBatch(msg.sender, address(0), to, ids, values);
    }

    function uri(uint256) external pure returns (string memory) {
        return "";
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0xd9b67a26 || id == 0x01ffc9a7;
    }
}
