// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A collection from before ERC-721: nothing in its transfers is indexed, and there is no ERC-165 or token URI.
contract Kitties {
    event Transfer(address from, address to, uint256 tokenId);

    string public constant name = "Kitties";
    string public constant symbol = "CK";
    mapping(uint256 => address) public ownerOf;
    mapping(address => uint256) public balanceOf;

    function transfer(address to, uint256 id) external {
        address from = ownerOf[id];
        require(from == address(0) || from == msg.sender, "not the owner");
        if (from != address(0)) balanceOf[from]--;
        balanceOf[to]++;
        ownerOf[id] = to;
        emit Transfer(from, to, id);
    }
}
